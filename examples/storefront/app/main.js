/** If the settings or the client cannot be loaded, the page says so, and offers to try again. */
try {
  await import("./start.js");
} catch (error) {
  console.warn(error);
  const closed = document.querySelector("#closed").content.cloneNode(true);
  closed.querySelector("button").addEventListener("click", () => location.reload());
  document.querySelector("#main").replaceChildren(closed);
}
