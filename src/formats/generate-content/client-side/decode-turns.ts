/** Contents of a request as turns of the hub; neighbours of one role, and adjacent texts and thoughts, are joined. */
import type { ContentBlock, ReasoningBlock, TextBlock, Turn } from '@/chat/request'
import { textOfCode } from '@/formats/generate-content/code-text'
import { type DecodedSignature, decodeSignature } from '@/formats/generate-content/signature'
import { decodeArguments } from '@/formats/generate-content/tool-calls'
import { type CallRegister, createCallRegister } from './call-register'
import { decodeFileData, decodeInlineData, decodeToolResult } from './decode-content'
import type { WireContent, WirePart } from './wire'

/** Turns without empty ones; a missing role is `user`, and so is the `function` of old clients. */
export function decodeTurns(contents: readonly WireContent[]): Turn[] {
  const turns: Turn[] = []
  const calls = createCallRegister()
  for (const content of contents) {
    const role = content.role === 'model' ? 'assistant' : 'user'
    const last = turns.at(-1)
    const turn: Turn = last?.role === role ? last : { role, content: [] }
    const index = turn === last ? turns.length - 1 : turns.length
    for (const part of content.parts ?? []) appendPart(turn, part, { calls, turn: index })
    if (turn !== last && turn.content.length > 0) turns.push(turn)
  }
  return turns
}

/** The texts of a system instruction; whatever else it holds has no place there. */
export function decodeSystem(parts: readonly WirePart[] | undefined): TextBlock[] {
  return (parts ?? []).flatMap(({ text }) => (text ? [{ type: 'text' as const, text }] : []))
}

type Place = { calls: CallRegister; turn: number }

function appendPart({ role, content }: Turn, part: WirePart, { calls, turn }: Place): void {
  const proof = decodeSignature(part.thoughtSignature)
  if (part.functionCall) {
    const { name, args } = part.functionCall
    const id = calls.call(part.functionCall, turn, content.length)
    content.push({ type: 'tool-call', id, name, argumentsText: decodeArguments(args), ...signed(proof) })
  } else if (part.functionResponse) {
    content.push(decodeToolResult(part.functionResponse, calls.answer(part.functionResponse, turn, content.length)))
  } else if (part.inlineData) content.push(decodeInlineData(part.inlineData))
  else if (part.fileData) content.push(decodeFileData(part.fileData))
  else if (part.thought) appendReasoning(content, part.text ?? '', proof)
  else appendText(content, part.text ?? textOfCode(part) ?? '', proof, role === 'assistant')
}

/** A proof closes its block: what follows is another thought. */
function appendReasoning(content: ContentBlock[], text: string, { signature, redacted }: DecodedSignature): void {
  if (redacted) {
    content.push({ type: 'reasoning', text, redacted })
    return
  }
  const open = content.at(-1)
  if (open?.type === 'reasoning' && !open.signature && !open.redacted) {
    extend(content, { ...open, text: open.text + text, ...(signature && { signature }) } satisfies ReasoningBlock)
  } else if (text !== '' || signature) content.push({ type: 'reasoning', text, ...(signature && { signature }) })
}

/** Adjacent texts of a user are apart on purpose; those of the model are the pieces of a stream. */
function appendText(content: ContentBlock[], text: string, proof: DecodedSignature, isModel: boolean): void {
  const open = content.at(-1)
  if (isModel && open?.type === 'text' && !open.signature) {
    extend(content, { ...open, text: open.text + text, ...signed(proof) } satisfies TextBlock)
  } else if (text !== '' || proof.signature) content.push({ type: 'text', text, ...signed(proof) })
}

function extend(content: ContentBlock[], block: ContentBlock): void {
  content[content.length - 1] = block
}

function signed({ signature }: DecodedSignature): Pick<TextBlock, 'signature'> {
  return signature ? { signature } : {}
}
