/** The beta interfaces of messages that Bedrock knows, which refuses a request that names another. */

export const BETA_HEADER = 'anthropic-beta'

const KNOWN =
  /^(?:compact|computer-use|context-1m|context-management|effort|fine-grained-tool-streaming|mid-conversation-[a-z-]+|thinking-display-updates|tool-search-tool)-\d{4}-\d{2}-\d{2}$/
/** What is called otherwise there. */
const RENAMED: ReadonlyMap<string, string> = new Map([['advanced-tool-use-2025-11-20', 'tool-search-tool-2025-10-19']])

/** Of the betas of a header those that are known, or `allowed` by the catalogue, and the rest by header and name. */
export function takenBetas(header = '', allowed: readonly string[] = []): { betas: string[]; leftOut: string[] } {
  const names = header.split(',').flatMap((name) => name.trim() || [])
  const betas: string[] = []
  const leftOut: string[] = []
  for (const name of names) {
    const known = RENAMED.get(name) ?? name
    if (KNOWN.test(known) || allowed.includes(name)) betas.push(known)
    else leftOut.push(`${BETA_HEADER}.${name}`)
  }
  return { betas, leftOut }
}
