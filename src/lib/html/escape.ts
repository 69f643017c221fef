/** Escapes texts for use in HTML. */

/** `text` as HTML, also valid inside an attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
