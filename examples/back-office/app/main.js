try {
  await import("./start.js");
} catch (error) {
  console.warn(error);
  const closed = document.querySelector("#closed").content.cloneNode(true);
  closed.querySelector("button").addEventListener("click", () => location.reload());
  document.querySelector("#main").replaceChildren(closed);
}
