"use strict";
/* The data of the page, read once, and its packed lists of numbers. */
const DATA = JSON.parse(document.getElementById("data").textContent);
const opened = new Map();

/* A packed list of numbers: base64 of four-byte floats, opened on first use. */
function numbers(place) {
  if (!opened.has(place)) {
    const bytes = Uint8Array.from(atob(DATA.pool[place]), (letter) => letter.charCodeAt(0));
    opened.set(place, new Float32Array(bytes.buffer));
  }
  return opened.get(place);
}
