/** Recognises lines that client software adds to prompts for its own vendor, and that are no instructions. */

/** It changes with every client version, so for another vendor it would only invalidate the prompt cache. */
const BILLING_LINE = 'x-anthropic-billing-header:'

/** Whether a text of the system prompt is such a line. */
export function isClientMark(text: string): boolean {
  return text.startsWith(BILLING_LINE)
}
