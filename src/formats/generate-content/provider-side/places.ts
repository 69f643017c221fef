import type { PlaceTable } from '@/chat/places'

/** Content that generate-content providers accept, by turn: all of it. Media that a result can't contain follow it (encode-turns.ts). */
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
