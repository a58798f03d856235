"""The bundled scores against tables of cases written down from their publications, with edge values."""

from __future__ import annotations

import pytest

from unswayed.core.errors import QueryError
from unswayed.model.score import band_of, points, read_answers
from unswayed.model.scores import FOLDER, NAMES, example_score

# What each value of each item adds, from the tables of the sources: both sides of every limit.
POINTS = {
    "cha2ds2_vasc": {
        "heart failure": {"no": 0, "yes": 1},
        "hypertension": {"no": 0, "yes": 1},
        "age": {64: 0, 64.9: 0, 65: 1, 74: 1, 74.9: 1, 75: 2, 90: 2},
        "diabetes": {"no": 0, "yes": 1},
        "stroke": {"no": 0, "yes": 2},
        "vascular disease": {"no": 0, "yes": 1},
        "female": {"no": 0, "yes": 1},
    },
    "has_bled": {
        "systolic pressure": {120: 0, 160: 0, 161: 1},
        "abnormal renal function": {"no": 0, "yes": 1},
        "abnormal liver function": {"no": 0, "yes": 1},
        "stroke": {"no": 0, "yes": 1},
        "bleeding": {"no": 0, "yes": 1},
        "labile INR": {"no": 0, "yes": 1},
        "age": {65: 0, 66: 1},
        "drugs": {"no": 0, "yes": 1},
        "alcohol": {"no": 0, "yes": 1},
    },
    "curb_65": {
        "confusion": {"no": 0, "yes": 1},
        "urea": {7: 0, 7.1: 1},
        "respiratory rate": {29: 0, 30: 1},
        "systolic pressure": {90: 0, 89: 1},
        "diastolic pressure": {61: 0, 60: 1},
        "age": {64: 0, 65: 1},
    },
    "wells_pe": {
        "signs of DVT": {"no": 0, "yes": 3},
        "PE most likely": {"no": 0, "yes": 3},
        "heart rate": {100: 0, 101: 1.5},
        "immobile": {"no": 0, "yes": 1.5},
        "earlier DVT or PE": {"no": 0, "yes": 1.5},
        "haemoptysis": {"no": 0, "yes": 1},
        "malignancy": {"no": 0, "yes": 1},
    },
    "qsofa": {
        "respiratory rate": {21: 0, 22: 1},
        "altered mentation": {"no": 0, "yes": 1},
        "systolic pressure": {101: 0, 100: 1},
    },
    "news2": {
        "respiration rate": {8: 3, 9: 1, 11: 1, 12: 0, 20: 0, 21: 2, 24: 2, 25: 3},
        "SpO2": {91: 3, 92: 2, 93: 2, 94: 1, 95: 1, 96: 0, 100: 0},
        "oxygen": {"no": 0, "yes": 2},
        "systolic pressure": {90: 3, 91: 2, 100: 2, 101: 1, 110: 1, 111: 0, 219: 0, 220: 3},
        "pulse": {40: 3, 41: 1, 50: 1, 51: 0, 90: 0, 91: 1, 110: 1, 111: 2, 130: 2, 131: 3},
        "consciousness": {"alert": 0, "CVPU": 3},
        "temperature": {35.0: 3, 35.1: 1, 36.0: 1, 36.1: 0, 38.0: 0, 38.1: 1, 39.0: 1, 39.1: 2},
    },
    "centor_mcisaac": {
        "temperature": {38: 0, 38.1: 1},
        "cough": {"present": 0, "absent": 1},
        "tender nodes": {"no": 0, "yes": 1},
        "tonsils": {"no": 0, "yes": 1},
        "age": {3: 1, 14: 1, 15: 0, 44: 0, 45: -1, 80: -1},
    },
    "glasgow_coma": {
        "eyes": {"none": 1, "to pain": 2, "to speech": 3, "spontaneously": 4},
        "verbal": {"none": 1, "incomprehensible": 2, "inappropriate": 3, "confused": 4, "oriented": 5},
        "motor": {
            "none": 1,
            "extension": 2,
            "abnormal flexion": 3,
            "withdrawal": 4,
            "localises": 5,
            "obeys": 6,
        },
    },
    "apgar": {
        "heart rate": {0: 0, 1: 1, 99: 1, 100: 2, 140: 2},
        "respiratory effort": {"absent": 0, "slow or irregular": 1, "good, crying": 2},
        "muscle tone": {"limp": 0, "some flexion": 1, "active motion": 2},
        "reflex irritability": {"none": 0, "grimace": 1, "cry": 2},
        "colour": {"blue or pale": 0, "body pink, extremities blue": 1, "completely pink": 2},
    },
    "ottawa_ankle": {
        name: {"no": 0, "yes": 1}
        for name in (
            "malleolar pain",
            "lateral malleolus tender",
            "medial malleolus tender",
            "midfoot pain",
            "fifth metatarsal tender",
            "navicular tender",
            "cannot bear weight",
        )
    },
    "credit_scorecard": {
        "age": {24: 0, 25: 12, 34: 12, 35: 25, 49: 25, 50: 34},
        "years in job": {0.9: 0, 1: 15, 4.9: 15, 5: 33},
        "housing": {"other": 0, "rents": 8, "owns": 30},
        "arrears": {"90 days or more": -60, "30 to 89 days": -25, "none": 40},
        "utilisation": {81: 0, 80: 18, 31: 18, 30: 42, 0: 42},
        "enquiries": {4: -10, 3: 10, 1: 10, 0: 22},
        "salary account": {"no": 0, "yes": 14},
        "savings": {0.5: 0, 1: 17, 5.9: 17, 6: 29},
        "guarantor": {"no": 0, "yes": 20},
    },
}
CURB = {
    "confusion": 0,
    "urea": 5,
    "respiratory rate": 18,
    "systolic pressure": 120,
    "diastolic pressure": 80,
    "age": 50,
}
NEWS = {
    "respiration rate": 16,
    "SpO2": 97,
    "oxygen": "no",
    "systolic pressure": 120,
    "pulse": 70,
    "consciousness": "alert",
    "temperature": 37.0,
}
OTTAWA = dict.fromkeys(POINTS["ottawa_ankle"], "no")
WELLS = {**dict.fromkeys(POINTS["wells_pe"], "no"), "heart rate": 80}
CHADS = {**dict.fromkeys(POINTS["cha2ds2_vasc"], "no"), "age": 50}
BLED = {**dict.fromkeys(POINTS["has_bled"], "no"), "age": 50, "systolic pressure": 130}
CENTOR = {"temperature": 37, "cough": "present", "tender nodes": 0, "tonsils": 0, "age": 30}
APGAR = {
    "heart rate": 120,
    "respiratory effort": "good, crying",
    "muscle tone": "active motion",
    "reflex irritability": "cry",
    "colour": "completely pink",
}
CREDIT = {
    "age": 40,
    "years in job": 6,
    "housing": "owns",
    "arrears": "none",
    "utilisation": 20,
    "enquiries": 0,
    "salary account": "no",
    "savings": 0,
    "guarantor": "no",
}
# Whole forms: what differs from a plain one, the points and the band.
FORMS = [
    ("cha2ds2_vasc", CHADS, {}, 0, "low"),
    ("cha2ds2_vasc", CHADS, {"female": "yes"}, 1, "intermediate"),
    ("cha2ds2_vasc", CHADS, {"age": 70, "hypertension": "yes"}, 2, "high"),
    ("cha2ds2_vasc", CHADS, {**dict.fromkeys(POINTS["cha2ds2_vasc"], "yes"), "age": 80}, 9, "high"),
    ("has_bled", BLED, {"age": 70, "drugs": "yes"}, 2, "not high"),
    ("has_bled", BLED, {"age": 70, "drugs": "yes", "alcohol": "yes"}, 3, "high"),
    (
        "has_bled",
        BLED,
        {**dict.fromkeys(POINTS["has_bled"], 1), "age": 66, "systolic pressure": 180},
        9,
        "high",
    ),
    ("curb_65", CURB, {}, 0, "low"),
    ("curb_65", CURB, {"age": 65}, 1, "low"),
    ("curb_65", CURB, {"age": 65, "systolic pressure": 85}, 2, "intermediate"),
    ("curb_65", CURB, {"age": 65, "systolic pressure": 85, "diastolic pressure": 50}, 2, "intermediate"),
    ("curb_65", CURB, {"age": 65, "urea": 8, "diastolic pressure": 60}, 3, "severe"),
    (
        "curb_65",
        CURB,
        {
            "confusion": 1,
            "urea": 9,
            "respiratory rate": 30,
            "systolic pressure": 80,
            "diastolic pressure": 40,
            "age": 80,
        },
        5,
        "severe",
    ),
    ("wells_pe", WELLS, {"immobile": "yes"}, 1.5, "low"),
    ("wells_pe", WELLS, {"haemoptysis": "yes", "malignancy": "yes"}, 2, "moderate"),
    ("wells_pe", WELLS, {"signs of DVT": "yes", "PE most likely": "yes"}, 6, "moderate"),
    (
        "wells_pe",
        WELLS,
        {"signs of DVT": "yes", "haemoptysis": 1, "malignancy": 1, "heart rate": 120},
        6.5,
        "high",
    ),
    ("wells_pe", WELLS, {**dict.fromkeys(POINTS["wells_pe"], 1), "heart rate": 101}, 12.5, "high"),
    ("qsofa", {"respiratory rate": 22, "altered mentation": 0, "systolic pressure": 120}, {}, 1, "negative"),
    ("qsofa", {"respiratory rate": 22, "altered mentation": 0, "systolic pressure": 100}, {}, 2, "positive"),
    ("news2", NEWS, {}, 0, "low"),
    ("news2", NEWS, {"SpO2": 93, "oxygen": "yes"}, 4, "low"),
    ("news2", NEWS, {"consciousness": "CVPU"}, 3, "low-medium"),
    ("news2", NEWS, {"respiration rate": 25, "pulse": 91}, 4, "low-medium"),
    ("news2", NEWS, {"respiration rate": 25, "SpO2": 92}, 5, "medium"),
    ("news2", NEWS, {"respiration rate": 21, "SpO2": 92, "pulse": 111}, 6, "medium"),
    ("news2", NEWS, {"respiration rate": 25, "SpO2": 92, "oxygen": "yes"}, 7, "high"),
    (
        "news2",
        NEWS,
        {
            "respiration rate": 30,
            "SpO2": 80,
            "oxygen": 1,
            "systolic pressure": 70,
            "pulse": 150,
            "consciousness": "CVPU",
            "temperature": 34.0,
        },
        20,
        "high",
    ),
    ("centor_mcisaac", CENTOR, {"age": 50}, -1, "low"),
    ("centor_mcisaac", CENTOR, {"cough": "absent"}, 1, "low"),
    ("centor_mcisaac", CENTOR, {"cough": "absent", "age": 8}, 2, "middle"),
    ("centor_mcisaac", CENTOR, {"cough": "absent", "age": 8, "tonsils": 1}, 3, "middle"),
    ("centor_mcisaac", CENTOR, {"cough": "absent", "age": 8, "tonsils": 1, "temperature": 39}, 4, "high"),
    ("glasgow_coma", {"eyes": "none", "verbal": "none", "motor": "none"}, {}, 3, "severe"),
    (
        "glasgow_coma",
        {"eyes": "to pain", "verbal": "incomprehensible", "motor": "withdrawal"},
        {},
        8,
        "severe",
    ),
    (
        "glasgow_coma",
        {"eyes": "to speech", "verbal": "incomprehensible", "motor": "withdrawal"},
        {},
        9,
        "moderate",
    ),
    ("glasgow_coma", {"eyes": "to speech", "verbal": "confused", "motor": "localises"}, {}, 12, "moderate"),
    ("glasgow_coma", {"eyes": "to speech", "verbal": "confused", "motor": "obeys"}, {}, 13, "mild"),
    ("glasgow_coma", {"eyes": "spontaneously", "verbal": "oriented", "motor": "obeys"}, {}, 15, "mild"),
    ("apgar", APGAR, {}, 10, "reassuring"),
    ("apgar", APGAR, {"heart rate": 90, "colour": "blue or pale"}, 7, "reassuring"),
    (
        "apgar",
        APGAR,
        {"heart rate": 90, "colour": "blue or pale", "muscle tone": "some flexion"},
        6,
        "moderately abnormal",
    ),
    (
        "apgar",
        APGAR,
        {"heart rate": 0, "colour": "blue or pale", "muscle tone": "limp"},
        4,
        "moderately abnormal",
    ),
    (
        "apgar",
        APGAR,
        {"heart rate": 0, "colour": "blue or pale", "muscle tone": "limp", "reflex irritability": "grimace"},
        3,
        "low",
    ),
    ("ottawa_ankle", OTTAWA, {}, 0, "no radiograph"),
    ("ottawa_ankle", OTTAWA, {"malleolar pain": "yes"}, 1, "no radiograph"),
    (
        "ottawa_ankle",
        OTTAWA,
        {"lateral malleolus tender": "yes", "cannot bear weight": "yes"},
        2,
        "no radiograph",
    ),
    ("ottawa_ankle", OTTAWA, {"malleolar pain": "yes", "midfoot pain": "yes"}, 2, "no radiograph"),
    ("ottawa_ankle", OTTAWA, {"malleolar pain": "yes", "navicular tender": "yes"}, 2, "no radiograph"),
    ("ottawa_ankle", OTTAWA, {"malleolar pain": "yes", "medial malleolus tender": "yes"}, 2, "ankle series"),
    ("ottawa_ankle", OTTAWA, {"malleolar pain": "yes", "cannot bear weight": "yes"}, 2, "ankle series"),
    ("ottawa_ankle", OTTAWA, {"midfoot pain": "yes", "navicular tender": "yes"}, 2, "foot series"),
    (
        "ottawa_ankle",
        OTTAWA,
        {"malleolar pain": 1, "midfoot pain": 1, "cannot bear weight": 1},
        3,
        "both series",
    ),
    (
        "ottawa_ankle",
        OTTAWA,
        {"malleolar pain": 1, "midfoot pain": 1, "navicular tender": 1},
        3,
        "foot series",
    ),
    ("credit_scorecard", CREDIT, {}, 400 + 25 + 33 + 30 + 40 + 42 + 22, "accept"),
    ("credit_scorecard", CREDIT, {"salary account": 1, "savings": 6, "guarantor": 1}, 592 + 50, "accept"),
    ("credit_scorecard", CREDIT, {"arrears": "90 days or more"}, 492, "refer"),
    ("credit_scorecard", CREDIT, {"arrears": "90 days or more", "age": 20}, 467, "decline"),
]


def test_every_example_has_its_table():
    assert tuple(sorted(POINTS)) == NAMES == tuple(sorted({form[0] for form in FORMS}))


@pytest.mark.parametrize("name", NAMES)
def test_every_value_has_the_points_of_the_source(name):
    score = example_score(name)
    assert [item.name for item in score.items] == list(POINTS[name])
    for item, table in POINTS[name].items():
        for value, worth in table.items():
            place, answer = next(iter(read_answers(score, {item: value}).items()))
            assert score.items[place].answers[answer].points == worth, (item, value)
        assert {answer.points for answer in score.item(item).answers} == set(table.values())


@pytest.mark.parametrize(("name", "plain", "changed", "worth", "band"), FORMS)
def test_whole_forms(name, plain, changed, worth, band):
    score = example_score(name)
    assert points(score, {**plain, **changed}) == worth
    assert band_of(score, {**plain, **changed}).name == band


@pytest.mark.parametrize("name", NAMES)
def test_every_example_says_where_it_is_from_and_what_it_is_not(name):
    score = example_score(name)
    assert "no medical device" in score.disclaimer
    assert score.sources
    assert score.about
    assert all(item.question for item in score.items)
    assert (FOLDER / f"{name}.toml").is_file()


def test_numbers_between_two_answers_are_refused():
    with pytest.raises(QueryError, match="temperature = 36\\.05 is in none of"):
        read_answers(example_score("news2"), {"temperature": 36.05})
    with pytest.raises(QueryError, match="age = 2 is in none of"):
        read_answers(example_score("centor_mcisaac"), {"age": 2})


def test_unknown_examples_name_the_nearest():
    with pytest.raises(QueryError, match="did you mean 'curb_65'"):
        example_score("curb-65")
