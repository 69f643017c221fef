/** Defines which kinds of content a provider's format allows in which turns, and moves other content. */
import { asWritten } from '@/lib/json-source/as-written'
import { invalidRequest } from './error'
import type {
  ContentBlock,
  FileBlock,
  MediaBlock,
  ModelBlock,
  ResultBlock,
  TextBlock,
  ToolResultBlock,
  Turn,
  UserBlock,
} from './request'

/** Videos are a separate kind, since hardly any format accepts them where it accepts other files. */
type KindOf<Block extends ContentBlock> = Block['type'] | (FileBlock extends Block ? 'video' : never)
type MediaKind = KindOf<MediaBlock>

/**
 * `carried`: the format allows the content there, or its encoder expresses it in another way. `moved`: the content goes to the user's next
 * turn, after a text that names its origin. `refused`: the request gets a 400, because an omission would change the answer.
 */
type Placing = 'carried' | 'moved' | 'refused'

/** One format's table. The compiler requires an entry for every kind of content. */
export type PlaceTable = {
  user: Readonly<Record<KindOf<UserBlock>, Exclude<Placing, 'moved'>>>
  model: Readonly<Record<Exclude<KindOf<ModelBlock>, MediaKind>, 'carried'> & Record<MediaKind, Placing>>
  result: Readonly<Record<'text', 'carried'> & Record<MediaKind, Placing>>
}

type Place = keyof PlaceTable

const WORDS: Record<MediaKind, string> = { image: 'pictures', audio: 'audio', video: 'video', file: 'files' }
const WHERE: Record<Place, string> = { user: '', model: " in the model's own turns", result: ' in results of tools' }

/** Moves each block into a turn that may contain it. Returns `turns` if none moves. Throws `invalid_request` if there is no such turn. */
export function placeTurns(turns: readonly Turn[], table: PlaceTable): readonly Turn[] {
  return turns.every((turn) => isInPlace(turn, table)) ? turns : new Placer(table).place(turns)
}

function isInPlace({ role, content }: Turn, table: PlaceTable): boolean {
  if (role === 'system') return true
  if (role === 'assistant') return content.every((block) => placingOf(block, table, 'model') === 'carried')
  return content.every(
    (block) =>
      placingOf(block, table, 'user') === 'carried' &&
      (block.type !== 'tool-result' || block.content.every((part) => placingOf(part, table, 'result') === 'carried')),
  )
}

function placingOf(block: ContentBlock, table: PlaceTable, place: Place): Placing {
  const kind = kindOf(block)
  const row: Partial<Record<string, Placing>> = table[place]
  const placing = row[kind] ?? 'carried'
  if (placing === 'refused')
    throw invalidRequest(`this model takes no ${WORDS[kind as MediaKind] ?? kind}${WHERE[place]}`)
  return placing
}

function kindOf(block: ContentBlock): KindOf<ContentBlock> {
  if (block.type !== 'file' || !('mediaType' in block.source)) return block.type
  const kind = block.source.mediaType?.split('/')[0]?.toLowerCase()
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'file'
}

/** A tool result without its call, as user text: providers would refuse it as a result. */
export function resultInWords({ name, callId, content, json, isError }: ToolResultBlock): ResultBlock[] {
  const said: readonly ResultBlock[] =
    content.length === 0 && json ? [{ type: 'text', text: JSON.stringify(asWritten(json)) }] : content
  return [{ type: 'text', text: `${isError ? 'Error' : 'Result'} of tool ${name ?? callId}:` }, ...said]
}

class Placer {
  private readonly placed: Turn[] = []
  private moved: UserBlock[] = []
  private readonly names = new Map<string, string>()

  constructor(private readonly table: PlaceTable) {}

  place(turns: readonly Turn[]): Turn[] {
    turns.forEach((turn, index) => {
      if (turn.role === 'system') this.placed.push(turn)
      else if (turn.role === 'assistant') this.placed.push({ ...turn, content: this.modelBlocks(turn.content) })
      else {
        const content = turn.content.map((block) => (block.type === 'tool-result' ? this.result(block) : block))
        const isOnlyResults = content.every(({ type }) => type === 'tool-result')
        // Moved content waits while a turn has only results and a user's turn follows.
        const isLater = isOnlyResults && turns[index + 1]?.role === 'user'
        this.placed.push({ ...turn, content: isLater ? content : [...this.takeMoved(), ...content] })
      }
    })
    if (this.moved.length > 0) this.placed.push({ role: 'user', content: this.takeMoved() })
    return this.placed
  }

  private modelBlocks(content: readonly ModelBlock[]): ModelBlock[] {
    for (const block of content) if (block.type === 'tool-call') this.names.set(block.id, block.name)
    const { kept, count } = this.divide(content, 'model', 'Files from your last message:')
    // A turn that becomes empty would be dropped or refused, so it gets a note.
    if (count > 0 && !kept.some((block) => SPOKEN.has(block.type))) kept.push(noteOf(count))
    return kept
  }

  private takeMoved(): UserBlock[] {
    const { moved } = this
    this.moved = []
    return moved
  }

  private result(result: ToolResultBlock): ToolResultBlock {
    const { callId } = result
    const name = result.name ?? this.names.get(callId)
    const label = `Files returned by tool ${name === undefined ? callId : `${name} (${callId})`}:`
    const { kept, count } = this.divide<ResultBlock>(result.content, 'result', label)
    if (count === 0) return result
    return { ...result, content: [...kept, noteOf(count)] }
  }

  private divide<Block extends ModelBlock | ResultBlock>(blocks: readonly Block[], place: Place, label: string) {
    const kept: Block[] = []
    let count = 0
    for (const block of blocks) {
      if (!isMedia(block) || placingOf(block, this.table, place) === 'carried') kept.push(block)
      else {
        if (count++ === 0) this.moved.push({ type: 'text', text: label })
        this.moved.push(block)
      }
    }
    return { kept, count }
  }
}

const SPOKEN: ReadonlySet<ContentBlock['type']> = new Set(['text', 'refusal', 'tool-call'])

function noteOf(count: number): TextBlock {
  return { type: 'text', text: `[${count} attached file(s) follow in the next user message]` }
}

function isMedia(block: ContentBlock): block is MediaBlock {
  return block.type === 'image' || block.type === 'file' || block.type === 'audio'
}
