"""Small files of every format, with what real programs write: properties, comments, all kinds of nodes."""

from __future__ import annotations

GOLDEN = {
    ".bif": """network "Lawn" { property author me; }
variable Rain { type discrete [ 2 ] { yes, no }; property position = (1, 2); }
variable Grass { type discrete[2] { wet, dry }; }
probability ( Rain ) { table 0.2, 0.8; }
probability ( Grass | Rain ) { // a comment
  (yes) 0.9, 0.1;
  default 0.3, 0.7;
}
""",
    ".net": """net { name = "Lawn"; node_size = (80 40); }
node Rain { label = "it rains"; position = (10 20); states = ("yes" "no"); }
node Grass { states = ("wet" "dry"); }
potential (Rain) { data = (0.2 0.8); }
potential (Grass | Rain) { data = ((0.9 0.1) (0.3 0.7)); % a comment
}
""",
    ".xdsl": """<?xml version="1.0" encoding="UTF-8"?>
<smile version="1.0" id="Lawn" numsamples="1000"><nodes>
<cpt id="Rain"><state id="yes" /><state id="no" /><probabilities>0.2 0.8</probabilities></cpt>
<deterministic id="Umbrella"><state id="open" /><state id="shut" /><parents>Rain</parents>
<resultingstates>open shut</resultingstates></deterministic>
<noisymax id="Grass"><state id="wet" /><state id="dry" /><parents>Rain Umbrella</parents>
<strengths>0 1 1 0</strengths><parameters>0.9 0.1 0 1 0.2 0.8 0 1 0.3 0.7</parameters>
<property id="unswayed_name">Grass</property></noisymax>
</nodes><extensions><genie version="1.0"><node id="Rain"><name>Rain</name></node></genie></extensions></smile>
""",
    ".xml": """<?xml version="1.0" encoding="US-ASCII"?>
<!DOCTYPE BIF [ <!ELEMENT BIF ( NETWORK )*> <!ATTLIST BIF VERSION CDATA #REQUIRED> ]>
<BIF VERSION="0.3"><NETWORK><NAME>Lawn</NAME>
<VARIABLE TYPE="nature"><NAME>Rain</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>Grass</NAME><OUTCOME>wet</OUTCOME><OUTCOME>dry</OUTCOME></VARIABLE>
<DEFINITION><FOR>Rain</FOR><TABLE>0.2 0.8</TABLE></DEFINITION>
<DEFINITION><FOR>Grass</FOR><GIVEN>Rain</GIVEN><TABLE>0.9 0.1 <!-- dry --> 0.3 0.7</TABLE></DEFINITION>
</NETWORK></BIF>
""",
    ".uai": """BAYES
3
2 2 3
3
1 0
2 0 1
3 0 2 1   # the child in the middle
2  0.2 0.8
4  0.9 0.1 0.3 0.7
12 0.1 0.2 0.3 0.3 0.6 0.5 0.2 0.3 0.4 0.5 0.4 0.2
""",
    ".dne": """// ~->[DNET-1]->~
bnet Lawn {
autoupdate = TRUE;
visual V1 { nodefont = font {shape= "Arial"; size= 10;}; windowposn = (67, 10, 746, 641); };
node Rain { kind = NATURE; discrete = TRUE; states = (yes, no); parents = ();
  probs = // yes no
    (0.2, 0.8); };
node Depth { discrete = FALSE; chance = CHANCE; levels = (0, 10, INFINITY); parents = (Rain);
  probs = ((0.9, 0.1), (0.3, 0.7)); };
node Sure { kind = NATURE; discrete = TRUE; states = (a, b); parents = (Rain); functable = (a, #1); };
};
""",
    ".dsl": """net Lawn
{
 HEADER = { ID = Lawn; NAME = "The lawn"; };
 node Rain { TYPE = CPT; HEADER = { ID = Rain; NAME = "it rains"; }; PARENTS = ();
  DEFINITION = { NAMESTATES = (yes, no); PROBABILITIES = (0.20000000, 0.80000000); }; };
 node Grass { TYPE = NOISY_MAX; HEADER = { ID = Grass; }; PARENTS = (Rain);
  DEFINITION = { NAMESTATES = (wet, dry); STRENGTHS = (0, 1);
   PROBABILITIES = (0.9, 0.1, 0.0, 1.0, 0.3, 0.7); }; };
 node Sure { TYPE = TRUTHTABLE; PARENTS = (Rain);
  DEFINITION = { NAMESTATES = (a, b); RESULTINGSTATES = (a, b); }; };
};
""",
    ".dsc": """belief network "Lawn"
node Rain { name: "it rains"; type : discrete [ 2 ] = { "yes", "no" }; position: (1, 2); }
node Grass { type : discrete [ 2 ] = { "wet", "dry" }; }
probability ( Rain ) { 0.2, 0.8; }
probability ( Grass | Rain ) { (0) : 0.9, 0.1; (1) : 0.3, 0.7; }
""",
}

_NODE = {
    ".bif": "variable {name} {{ type discrete [ {n} ] {{ {states:,} }}; }}\n"
    "probability ( {name} {bar:,} ) {{ table {shares:,}; }}",
    ".net": "node {name} {{ states = ({quoted: }); }}\npotential ({name} {bar: }) {{ data = ({shares: }); }}",
    ".dsc": "node {name} {{ type : discrete [ {n} ] = {{ {states:,} }}; }}\n"
    "probability ( {name} {bar:,} ) {{ {shares:,}; }}",
    ".dne": "node {name} {{ kind = NATURE; discrete = TRUE; states = ({states:,});\n"
    "parents = ({parents:,}); probs = ({shares:,}); }};",
    ".dsl": "node {name} {{ TYPE = CPT; PARENTS = ({parents:,});\n"
    "DEFINITION = {{ NAMESTATES = ({states:,}); PROBABILITIES = ({shares:,}); }}; }};",
    ".xdsl": "<cpt id='{name}'>{state_tags}<parents>{parents: }</parents>\n"
    "<probabilities>{shares: }</probabilities></cpt>",
    ".xml": "<VARIABLE><NAME>{name}</NAME>{outcome_tags}</VARIABLE>\n"
    "<DEFINITION><FOR>{name}</FOR>{given_tags}<TABLE>{shares: }</TABLE></DEFINITION>",
}
_AROUND = {
    ".bif": ("network x {}", ""),
    ".net": ("net {}", ""),
    ".dsc": ("belief network", ""),
    ".dne": ("bnet x {", "};"),
    ".dsl": ("net x {", "};"),
    ".xdsl": ("<smile id='x'><nodes>", "</nodes></smile>"),
    ".xml": ("<BIF><NETWORK>", "</NETWORK></BIF>"),
}


class _Joined(list[str]):
    """Words that a format string joins by the separator it names."""

    def __format__(self, separator: str) -> str:
        return separator.join(self)


def text_with_parents(suffix: str, n_parents: int, n_states: int = 10) -> str:
    """A child with many parents and one row of its table: few words that announce a table without end."""
    if suffix == ".uai":
        return _uai_with_parents(n_parents, n_states)
    names = [f"P{i}" for i in range(n_parents)]
    nodes = [_node(suffix, name, [], n_states) for name in names]
    before, after = _AROUND[suffix]
    return "\n".join([before, *nodes, _node(suffix, "C", names, n_states), after])


def _node(suffix: str, name: str, parents: list[str], n_states: int) -> str:
    states = [f"s{i}" for i in range(n_states)]
    return _NODE[suffix].format(
        name=name,
        n=n_states,
        states=_Joined(states),
        quoted=_Joined(f'"{state}"' for state in states),
        shares=_Joined([str(1 / n_states)] * n_states),
        parents=_Joined(parents),
        bar=_Joined(["| " + parents[0], *parents[1:]] if parents else []),
        state_tags="".join(f"<state id='{state}'/>" for state in states),
        outcome_tags="".join(f"<OUTCOME>{state}</OUTCOME>" for state in states),
        given_tags="".join(f"<GIVEN>{parent}</GIVEN>" for parent in parents),
    )


def _uai_with_parents(n_parents: int, n_states: int) -> str:
    size = str(n_parents + 1)
    scopes = [*(f"1 {i}" for i in range(n_parents)), " ".join([size, *map(str, range(n_parents + 1))])]
    tables = [f"{n_states} {' '.join([str(1 / n_states)] * n_states)}"] * (n_parents + 1)
    return "\n".join(["BAYES", size, " ".join([str(n_states)] * (n_parents + 1)), size, *scopes, *tables])
