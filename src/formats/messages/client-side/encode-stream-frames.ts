import type { JsonObject } from '@/lib/json'
import type { Frame } from '@/lib/streams/sse'

/** Frames of a messages stream's content blocks, with consecutive indexes from 0; only one is open at a time. */
export function createFrameWriter() {
  let index = -1

  function start(block: JsonObject): Frame {
    index++
    return frame('content_block_start', { content_block: block })
  }

  function delta(value: JsonObject): Frame {
    return frame('content_block_delta', { delta: value })
  }

  function stop(): Frame {
    return frame('content_block_stop', {})
  }

  function frame(type: string, fields: JsonObject): Frame {
    return { event: type, data: JSON.stringify({ type, index, ...fields }) }
  }

  function whole(block: JsonObject): Frame[] {
    switch (block.type) {
      case 'text':
        return [start({ type: 'text', text: '' }), delta({ type: 'text_delta', text: block.text }), stop()]
      case 'thinking':
        return [
          start({ type: 'thinking', thinking: '', signature: '' }),
          ...(block.thinking === '' ? [] : [delta({ type: 'thinking_delta', thinking: block.thinking })]),
          delta({ type: 'signature_delta', signature: block.signature }),
          stop(),
        ]
      default:
        return [start(block), stop()]
    }
  }

  return { start, delta, stop, whole }
}
