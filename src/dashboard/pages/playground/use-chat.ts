/** State of a playground conversation: turns, the answer in progress, and a way to stop it. */
import { useEffect, useRef, useState } from 'react'
import { ApiError } from '@/dashboard/client'
import { askAgain } from '@/dashboard/query'
import { bodyOf, keyOf, type Message, type Settings } from './settings'
import { type AnswerRecord, streamChat } from './stream-chat'

export type Turn = Message & {
  id: number
  /** The model's reasoning before its answer, if it is sent. */
  reasoning: string
  state: 'said' | 'writing' | 'stopped' | 'failed'
  error?: ApiError
  model?: string
  provider?: string
  requestId?: string
  /** Milliseconds until the first text arrived. */
  firstTokenMs?: number
  record?: AnswerRecord
}

export interface Chat {
  turns: readonly Turn[]
  isWriting: boolean
  say(text: string, images: readonly string[], settings: Settings): void
  retry(settings: Settings): void
  stop(): void
  clear(): void
}

/** A page's conversation, which is lost when the page is left. */
export function useChat(): Chat {
  const [turns, setTurns] = useState<readonly Turn[]>([])
  const running = useRef<AbortController>(undefined)
  const nextId = useRef(1)
  useEffect(() => () => running.current?.abort(), [])

  function turn(role: Turn['role'], text: string, state: Turn['state']): Turn {
    return { id: nextId.current++, role, text, reasoning: '', state }
  }

  async function answer(before: readonly Turn[], settings: Settings): Promise<void> {
    const controller = new AbortController()
    running.current = controller
    const own = turn('assistant', '', 'writing')
    setTurns([...before, own])
    const change = (changes: (turn: Turn) => Partial<Turn>) =>
      setTurns((all) => all.map((one) => (one.id === own.id ? { ...one, ...changes(one) } : one)))
    try {
      await write(messagesOf(before), settings, controller.signal, change)
      change(() => ({ state: 'said' }))
    } catch (error) {
      if (controller.signal.aborted) change(() => ({ state: 'stopped' }))
      else change(() => ({ state: 'failed', error: asApiError(error) }))
    }
    if (running.current === controller) running.current = undefined
    void askAgain({ predicate: ({ queryKey }) => queryKey[0] !== 'models' })
  }

  return {
    turns,
    isWriting: turns.at(-1)?.state === 'writing',
    say: (text, images, settings) => void answer([...turns, { ...turn('user', text, 'said'), images }], settings),
    retry(settings) {
      const last = turns.findLastIndex(({ role }) => role === 'user')
      void answer(turns.slice(0, last + 1), settings)
    },
    stop: () => running.current?.abort(),
    clear() {
      running.current?.abort()
      setTurns([])
    },
  }
}

/** The messages to send; answers without any text are omitted. */
export function messagesOf(turns: readonly Turn[]): Message[] {
  return turns.filter(({ text }) => text !== '').map(({ role, text, images = [] }) => ({ role, text, images }))
}

async function write(
  messages: readonly Message[],
  settings: Settings,
  signal: AbortSignal,
  change: (changes: (turn: Turn) => Partial<Turn>) => void,
): Promise<void> {
  const startedMs = performance.now()
  for await (const piece of streamChat({ key: keyOf(settings), body: bodyOf(settings, messages) }, signal)) {
    switch (piece.type) {
      case 'began':
        change(() => ({ model: piece.model, provider: piece.provider, requestId: piece.requestId }))
        break
      case 'record':
        change(() => ({ record: piece.record }))
        break
      default: {
        const { type, text } = piece
        const nowMs = performance.now() - startedMs
        change((turn) => ({ [type]: turn[type] + text, firstTokenMs: turn.firstTokenMs ?? nowMs }))
      }
    }
  }
}

function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(error instanceof Error ? error.message : String(error), 0)
}
