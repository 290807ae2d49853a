for (const region of document.querySelectorAll("[data-region]")) {
  const raw = data.regions[Number(region.getAttribute("data-region"))];
  if (raw.views.length) new Workbench(region, raw);
}
for (const box of document.querySelectorAll(".counterexample")) if (box.querySelector("ol.story")) new Story(box);
// What is folded away is printed, too.
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((node) => (node.open = true)));
document.documentElement.setAttribute("data-ready", "true");
