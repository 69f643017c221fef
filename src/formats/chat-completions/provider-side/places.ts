import type { PlaceTable } from '@/chat/places'

/** Where chat-completions providers accept content: tool results and the model's messages only text. Videos have their own part. */
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
