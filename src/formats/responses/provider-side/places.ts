/** Where providers of responses take which content. */
import type { PlaceTable } from '@/chat/places'

/** The model's own messages are text there. */
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
  result: { text: 'carried', image: 'carried', audio: 'moved', video: 'refused', file: 'carried' },
}
