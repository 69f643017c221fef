/**
 * A line that Claude Code puts into its system prompt. It changes with every client version, so for other vendors it would only invalidate
 * the prompt cache.
 */
const BILLING_LINE = 'x-anthropic-billing-header:'

/** Whether a system text is a line that client software adds for its own vendor, and no instruction. */
export function isClientMark(text: string): boolean {
  return text.startsWith(BILLING_LINE)
}
