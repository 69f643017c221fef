/** Which fields of a generate-content body are passed on to a provider of the format, and why. All in camelCase. */
import { fieldTable } from '@/formats/body-fields'

/** The top level. */
export const BODY_FIELDS = fieldTable({
  hub: [
    'model',
    'contents',
    'systemInstruction',
    'generationConfig',
    'tools',
    'toolConfig',
    'serviceTier',
    'fallback',
    'svc',
  ],
  passed: {
    'what is held back, and how strictly': ['safetySettings', 'modelArmorConfig'],
    'what the provider keeps of the request, at no price of its own': ['labels', 'store'],
  },
  unpriced: {
    'what is kept at the provider is read as well': ['cachedContent', 'continuationToken'],
  },
})

/** Inside `generationConfig`. */
export const CONFIG_FIELDS = fieldTable({
  hub: [
    'temperature',
    'topP',
    'topK',
    'candidateCount',
    'maxOutputTokens',
    'stopSequences',
    'presencePenalty',
    'frequencyPenalty',
    'seed',
    'responseLogprobs',
    'logprobs',
    'responseMimeType',
    'responseSchema',
    'responseJsonSchema',
    'thinkingConfig',
  ],
  passed: {
    'how closely media are looked at; what comes of it is input and stated as such': [
      'mediaResolution',
      'audioTimestamp',
      'audioTranscriptionConfig',
    ],
    'means nothing without sounds or pictures in the answer, which are refused': ['speechConfig', 'imageConfig'],
    'what is said of elections': ['enableEnhancedCivicAnswers'],
    'how the answer is packed': ['generationOutputConfig', 'automaticContinuation'],
  },
  values: { responseModalities: { values: ['TEXT'], because: 'sounds and pictures have prices of their own' } },
  unpriced: { 'another model may answer, at another price': ['routingConfig', 'modelSelectionConfig'] },
})
