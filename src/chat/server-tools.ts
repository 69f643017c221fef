/** Tools that run at the provider, such as web search: the tools of a request, and their uses in an answer. */

/** A tool's properties that are equal at all providers. */
export type ServerToolKind = {
  /** The tool's name in the catalogue's prices. */
  name: string
  /** Expected uses, if neither caller nor catalogue sets a limit. */
  usualUses: number
  /** Whether the format has a field that limits the uses, and its providers obey it. */
  isLimitable: boolean
  /** Tokens that one use adds to the prompt, unless the catalogue sets another number. */
  tokensPerUse: number
  /** Whether the model reads the whole prompt again after each use. */
  isReread: boolean
  /** Assumed uses if an answer doesn't report them. */
  unsaidUses: number
}

export type ServerTool = ServerToolKind & {
  /** The tool's place in the caller's body and its kind, such as `tools[1]` and `web_search_20250305`. */
  field: string
  kind: string
  maxUses?: number
  /** A tool that clients always add: omitted if it has no price. */
  isOptional?: true
}

export type ToolUses = Readonly<Record<string, number>>
