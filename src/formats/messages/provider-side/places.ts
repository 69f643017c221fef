import type { PlaceTable } from '@/chat/places'

/** Content that messages providers accept, by turn. The model's own messages contain only text; sound and videos are always refused. */
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
