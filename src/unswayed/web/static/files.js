// Files: choosing one sends its form; dropping one anywhere on a page sends it too.

const form = () => {
  const made = document.createElement("form");
  made.action = "/open";
  made.method = "post";
  made.enctype = "multipart/form-data";
  made.hidden = true;
  for (const [name, type] of [["file", "file"], ["case", "hidden"]]) {
    const field = document.createElement("input");
    field.name = name;
    field.type = type;
    made.append(field);
  }
  return made;
};

const holdsFiles = (event) => event.dataTransfer?.types.includes("Files");

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-send-on-choice]") && event.target.files.length) event.target.form.requestSubmit();
});
document.addEventListener("dragover", (event) => {
  if (!holdsFiles(event)) return;
  event.preventDefault();
  document.body.classList.add("dropping");
});
document.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) document.body.classList.remove("dropping");
});
document.addEventListener("drop", (event) => {
  if (!holdsFiles(event)) return;
  event.preventDefault();
  document.body.classList.remove("dropping");
  if (!event.dataTransfer.files.length) return;
  const made = form();
  made.elements.file.files = event.dataTransfer.files;
  made.elements.case.value = location.pathname + location.search;
  document.body.append(made);
  made.submit();
});
