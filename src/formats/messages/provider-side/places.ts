/** Where providers of messages take which content. */
import type { PlaceTable } from '@/chat/places'

/** The model's own messages are text there, and no place takes sound or videos. */
export const PLACES: PlaceTable = {
  user: {
    text: 'carried',
    refusal: 'carried',
    image: 'carried',
    audio: 'refused',
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
    audio: 'refused',
    video: 'refused',
    file: 'moved',
  },
  result: { text: 'carried', image: 'carried', audio: 'refused', video: 'refused', file: 'carried' },
}
