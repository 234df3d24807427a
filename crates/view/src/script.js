"use strict";
// Everything here is a shortcut; each page works without it.

// Keys: a button or link with data-key, unless somebody types.
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input:not([type=checkbox]), textarea, select");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const target = document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (!target) return;
  event.preventDefault();
  target.click();
});

// The slider over the threshold: which candidates would be shown.
const form = document.querySelector("form.threshold");
if (form) {
  const slider = form.querySelector("input[type=range]");
  form.querySelector("button").hidden = true;
  slider.addEventListener("input", () => {
    const open = Number(form.dataset.any) > Number(slider.value);
    form.querySelector("output").textContent = Number(slider.value).toFixed(2);
    form.querySelector(".verdict").textContent = open ? "it would show what is marked ●" : "it would be silent";
    for (const row of document.querySelectorAll("tr.near")) row.classList.toggle("on", open);
  });
}

// A choice in a filter shows at once.
for (const select of document.querySelectorAll("form.filter select")) {
  select.addEventListener("change", () => select.form.requestSubmit());
}
