/** Decodes contents into turns; neighbours with the same role, and adjacent texts and thoughts, are joined. */
import type {
  MediaBlock,
  ModelBlock,
  ModelTurn,
  ReasoningBlock,
  TextBlock,
  Turn,
  UserBlock,
  UserTurn,
} from '@/chat/request'
import { textOfCode } from '@/formats/generate-content/code-text'
import { type DecodedSignature, decodeSignature } from '@/formats/generate-content/signature'
import { decodeArguments } from '@/formats/generate-content/tool-calls'
import { type CallRegister, createCallRegister } from './call-register'
import { decodeFileData, decodeInlineData, decodeToolResult } from './decode-content'
import type { WireContent, WirePart } from './wire'

/** The turns of a conversation, without empty turns; a missing role, or the old role `function`, means `user`. */
export function decodeTurns(contents: readonly WireContent[]): Turn[] {
  const turns: Turn[] = []
  const calls = createCallRegister()
  for (const { role, parts = [] } of contents) {
    for (const part of parts) {
      // Calls are always the model's and results the user's, whatever the role says.
      const isModel = part.functionCall ? true : part.functionResponse ? false : role === 'model'
      const last = turns.at(-1)
      if (isModel) {
        const turn: ModelTurn = last?.role === 'assistant' ? last : { role: 'assistant', content: [] }
        const index = turn === last ? turns.length - 1 : turns.length
        appendModelPart(turn.content, part, { calls, turn: index })
        if (turn !== last && turn.content.length > 0) turns.push(turn)
      } else {
        const turn: UserTurn = last?.role === 'user' ? last : { role: 'user', content: [] }
        const index = turn === last ? turns.length - 1 : turns.length
        appendUserPart(turn.content, part, { calls, turn: index })
        if (turn !== last && turn.content.length > 0) turns.push(turn)
      }
    }
  }
  return turns
}

/** Splits a system instruction into texts and media; other formats allow only texts there. */
export function decodeSystem(parts: readonly WirePart[] = []): { system: TextBlock[]; media: MediaBlock[] } {
  const system: TextBlock[] = []
  const media: MediaBlock[] = []
  for (const part of parts) {
    const medium = mediumOf(part)
    const text = part.text ?? textOfCode(part)
    if (medium) media.push(medium)
    else if (text) system.push({ type: 'text', text })
  }
  return { system, media }
}

/** The turns, with the system instruction's media added to the start of the user's first turn. */
export function withOpening([first, ...others]: readonly Turn[], media: readonly MediaBlock[]): Turn[] {
  const opening: UserBlock[] = [{ type: 'text', text: 'Files from the system instruction:' }, ...media]
  if (first?.role === 'user') return [{ ...first, content: [...opening, ...first.content] }, ...others]
  return [{ role: 'user', content: opening }, ...(first ? [first] : []), ...others]
}

type Place = { calls: CallRegister; turn: number }

function appendModelPart(content: ModelBlock[], part: WirePart, { calls, turn }: Place): void {
  const proof = decodeSignature(part.thoughtSignature)
  const medium = mediumOf(part)
  if (part.functionCall) {
    const { name, args } = part.functionCall
    const id = calls.call(part.functionCall, turn, content.length)
    content.push({ type: 'tool-call', id, name, argumentsText: decodeArguments(args), ...signed(proof) })
  } else if (medium) content.push(medium)
  else if (part.thought) appendReasoning(content, part.text ?? '', proof)
  else appendText(content, part.text ?? textOfCode(part) ?? '', proof)
}

/** Keeps a user's adjacent texts separate, as the user sent them. The model's texts are joined, as pieces of a stream. */
function appendUserPart(content: UserBlock[], part: WirePart, { calls, turn }: Place): void {
  const medium = mediumOf(part)
  if (part.functionResponse) {
    content.push(decodeToolResult(part.functionResponse, calls.answer(part.functionResponse, turn, content.length)))
  } else if (medium) content.push(medium)
  else {
    const text = part.text ?? textOfCode(part) ?? ''
    const { signature } = decodeSignature(part.thoughtSignature)
    if (text !== '' || signature) content.push({ type: 'text', text, ...(signature && { signature }) })
  }
}

function mediumOf({ inlineData, fileData }: WirePart): MediaBlock | undefined {
  if (inlineData) return decodeInlineData(inlineData)
  return fileData && decodeFileData(fileData)
}

/** A signature ends its block: later text belongs to another thought. */
function appendReasoning(content: ModelBlock[], text: string, { signature, redacted }: DecodedSignature): void {
  if (redacted) {
    content.push({ type: 'reasoning', text, redacted })
    return
  }
  const open = content.at(-1)
  if (open?.type === 'reasoning' && !open.signature && !open.redacted) {
    extend(content, { ...open, text: open.text + text, ...(signature && { signature }) } satisfies ReasoningBlock)
  } else if (text !== '' || signature) content.push({ type: 'reasoning', text, ...(signature && { signature }) })
}

function appendText(content: ModelBlock[], text: string, proof: DecodedSignature): void {
  const open = content.at(-1)
  if (open?.type === 'text' && !open.signature) {
    extend(content, { ...open, text: open.text + text, ...signed(proof) } satisfies TextBlock)
  } else if (text !== '' || proof.signature) content.push({ type: 'text', text, ...signed(proof) })
}

function extend(content: ModelBlock[], block: ModelBlock): void {
  content[content.length - 1] = block
}

function signed({ signature }: DecodedSignature): Pick<TextBlock, 'signature'> {
  return signature ? { signature } : {}
}
