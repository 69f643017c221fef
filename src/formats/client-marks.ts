/** Lines that client software puts into a prompt for its own vendor, which are no instruction for any model. */

/** New with every version of the client: in a prompt for another vendor it means nothing and would spoil its cache. */
const BILLING_LINE = 'x-anthropic-billing-header:'

/** Whether a text of the system prompt is such a line. */
export function isClientMark(text: string): boolean {
  return text.startsWith(BILLING_LINE)
}
