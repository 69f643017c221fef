/** Where providers of chat-completions take which content. */
import type { PlaceTable } from '@/chat/places'

/** Results and the model's own messages are text there. A service that takes videos does so in a part of its own. */
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
