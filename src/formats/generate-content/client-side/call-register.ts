type Named = { id?: string; name?: string }

export type AnsweredCall = { callId: string; name?: string }

export interface CallRegister {
  /** The id of a call: the caller's, or one made from the call's position, so that the same conversation always has the same ids. */
  call(call: Named, turn: number, position: number): string
  /** The call of a result: by id, else the oldest open call with that name; else a new id without a call. */
  answer(response: Named, turn: number, position: number): AnsweredCall
}

type OpenCall = { id: string; name: string | undefined; isAnswered: boolean }

/** Assigns ids to a conversation's function calls, and finds the call of each result, with or without ids. Look-ups take constant time. */
export function createCallRegister(): CallRegister {
  const taken = new Set<string>()
  const byWireId = new Map<string, Queue>()
  const byName = new Map<string, Queue>()

  function unique(id: string): string {
    let candidate = id
    for (let copy = 2; taken.has(candidate); copy++) candidate = `${id}_${copy}`
    taken.add(candidate)
    return candidate
  }

  return {
    call({ id: wireId, name }, turn, position) {
      // Some clients restart numbering at every turn, but providers of other formats refuse repeated ids.
      const id = unique(wireId && !taken.has(wireId) ? wireId : placeId(turn, position))
      const call = { id, name, isAnswered: false }
      if (wireId) queueOf(byWireId, wireId).push(call)
      if (name) queueOf(byName, name).push(call)
      return id
    },
    answer({ id: wireId, name }, turn, position) {
      const call = (wireId && byWireId.get(wireId)?.take()) || (name && byName.get(name)?.take()) || undefined
      const callId = call?.id ?? (wireId || unique(placeId(turn, position)))
      const answeredName = name || call?.name
      return { callId, ...(answeredName && { name: answeredName }) }
    },
  }
}

interface Queue {
  push(call: OpenCall): void
  take(): OpenCall | undefined
}

function queueOf(queues: Map<string, Queue>, key: string): Queue {
  const queue = queues.get(key) ?? createQueue()
  queues.set(key, queue)
  return queue
}

function createQueue(): Queue {
  const calls: OpenCall[] = []
  let head = 0
  return {
    push: (call) => calls.push(call),
    take() {
      while (calls[head]?.isAnswered) head++
      const call = calls[head++]
      if (call) call.isAnswered = true
      return call
    },
  }
}

function placeId(turn: number, position: number): string {
  return `call_${turn}_${position}`
}
