/** Which content chat-completions providers accept where. */
import type { PlaceTable } from '@/chat/places'

/** Tool results and the model's own messages contain only text. Services that accept videos have their own kind of part. */
export const PLACES: PlaceTable = {
  user: {
    text: 'carried',
    refusal: 'carried',
    image: 'carried',
    audio: 'carried',
    video: 'refused',
    file: 'carried',
    'tool-result': 'carried',
  },
  model: {
    text: 'carried',
    refusal: 'carried',
    reasoning: 'carried',
    'tool-call': 'carried',
    image: 'moved',
    audio: 'moved',
    video: 'refused',
    file: 'moved',
  },
  result: { text: 'carried', image: 'moved', audio: 'moved', video: 'refused', file: 'moved' },
}
