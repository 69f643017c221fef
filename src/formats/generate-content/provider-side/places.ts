/** Where providers of generate-content take which content. */
import type { PlaceTable } from '@/chat/places'

/** Everywhere everything; content that does not fit into a result stands beside it (encode-turns.ts). */
export const PLACES: PlaceTable = {
  user: {
    text: 'carried',
    refusal: 'carried',
    image: 'carried',
    audio: 'carried',
    video: 'carried',
    file: 'carried',
    'tool-result': 'carried',
  },
  model: {
    text: 'carried',
    refusal: 'carried',
    reasoning: 'carried',
    'tool-call': 'carried',
    image: 'carried',
    audio: 'carried',
    video: 'carried',
    file: 'carried',
  },
  result: { text: 'carried', image: 'carried', audio: 'carried', video: 'carried', file: 'carried' },
}
