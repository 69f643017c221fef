import type { PlaceTable } from '@/chat/places'

/** Content that chat-completions providers accept, by turn. Tool results and the model's messages contain only text. */
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
