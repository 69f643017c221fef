/** Tools that run at the provider, such as a search of the web: which of them a request offers, and how often an answer used them. */

/** What is known of a tool, at any provider. */
export type ServerToolKind = {
  /** What the catalogue prices it by. */
  name: string
  /** Uses to reckon with where neither the caller nor the catalogue sets a limit. */
  usualUses: number
  /** Whether the format has a word for a limit, to which its providers keep. */
  isLimitable: boolean
  /** Tokens that one use adds to the prompt, where the catalogue says no other number. */
  tokensPerUse: number
  /** Whether the model reads the whole prompt once more after each use. */
  isReread: boolean
  /** Uses that stand to reason where an answer does not say how many there were. */
  unsaidUses: number
}

/** One that a request offers. */
export type ServerTool = ServerToolKind & {
  /** Its place in the caller's body, and its kind: `tools[1]` and `web_search_20250305`. */
  field: string
  kind: string
  /** The caller's own limit. */
  maxUses?: number
  /** Offered by habit, beside tools that the request is about: where it has no price it is left out. */
  isOptional?: true
}

/** How often each tool was used, by its name. */
export type ToolUses = Readonly<Record<string, number>>
