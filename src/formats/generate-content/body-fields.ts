/** The body fields of generate-content that are passed on to providers of the format, and why. All in camelCase. */
import type { Feature } from '@/chat/request'
import { fieldTable, type RequestFields } from '@/formats/body-fields'
import { boundWhere, fieldTree, LOST, lostExcept, nestedFields } from '@/formats/nested-fields'
import { NOT_OFFERED, ROUTING_FIELDS } from '@/formats/routing-fields'
import { camelCase } from './normalise'
import { QUIRKS } from './provider'

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
    ...ROUTING_FIELDS,
  ],
  ours: ['model', 'fallback', 'svc', ...ROUTING_FIELDS],
  passed: {
    'what is held back, and how strictly': ['safetySettings', 'modelArmorConfig'],
    'what the provider notes of the request, at no price of its own': ['labels'],
  },
  kept: { 'it would lie in the operator’s account, for nobody to read': ['store'] },
  unpriced: {
    ...NOT_OFFERED,
    'what is kept at the provider is read as well': ['cachedContent', 'continuationToken'],
  },
})

/** The fields inside `generationConfig`, grouped by how the gateway treats them. */
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
  bound: {
    responseLogprobs: { carriedBy: ['chat-completions', 'responses'] },
    logprobs: { carriedBy: ['chat-completions', 'responses'] },
    responseModalities: { carriedBy: ['chat-completions'], word: 'IMAGE', inStreams: true },
    imageConfig: { carriedBy: ['chat-completions'], inStreams: true },
  },
  passed: {
    'how closely media are looked at; what comes of it is input and stated as such': [
      'mediaResolution',
      'audioTimestamp',
      'audioTranscriptionConfig',
    ],
    'in which shape pictures are made; their tokens or number are stated': ['imageConfig'],
    'means nothing without sounds in the answer, which are refused': ['speechConfig'],
    'what is said of elections': ['enableEnhancedCivicAnswers'],
    'how the answer is packed': ['generationOutputConfig', 'automaticContinuation'],
  },
  values: { responseModalities: { values: ['TEXT', 'IMAGE'], because: 'sounds have prices of their own' } },
  unpriced: { 'another model may answer, at another price': ['routingConfig', 'modelSelectionConfig'] },
})

const MEDIA = ['data', 'displayName', 'mimeType', 'fileUri']
const NAMED_MEDIA = fieldTree(MEDIA, {}, { displayName: LOST })
const MEDIA_FIELDS = { inlineData: NAMED_MEDIA, fileData: NAMED_MEDIA }

const PART = fieldTree(
  [
    ...['text', 'thought', 'thoughtSignature', 'inlineData', 'fileData', 'functionCall', 'functionResponse'],
    ...['executableCode', 'codeExecutionResult', 'videoMetadata', 'mediaResolution', 'mediaProcessing'],
    ...['toolCall', 'toolResponse', 'audioTranscription', 'speechMetadata', 'partMetadata'],
  ],
  {
    ...MEDIA_FIELDS,
    functionCall: fieldTree(['id', 'name', 'args', 'partialArgs', 'willContinue']),
    functionResponse: fieldTree(
      ['id', 'name', 'response', 'parts', 'scheduling', 'willContinue'],
      { parts: fieldTree(['inlineData', 'fileData', 'mediaProcessing'], MEDIA_FIELDS, { mediaProcessing: LOST }) },
      { scheduling: LOST, willContinue: LOST },
    ),
    executableCode: fieldTree(['id', 'language', 'code']),
    codeExecutionResult: fieldTree(['id', 'outcome', 'output']),
    videoMetadata: fieldTree(['startOffset', 'endOffset', 'fps']),
    mediaResolution: fieldTree(['level', 'numTokens']),
  },
  {
    videoMetadata: LOST,
    mediaResolution: LOST,
    mediaProcessing: LOST,
    audioTranscription: LOST,
    speechMetadata: LOST,
    partMetadata: LOST,
  },
)

const FUNCTION = fieldTree(
  ['name', 'description', 'behavior', 'parameters', 'parametersJsonSchema', 'response', 'responseJsonSchema'],
  {},
  {
    behavior: lostExcept([], (word) => word === 'NON_BLOCKING'),
    response: LOST,
    responseJsonSchema: LOST,
  },
)

const CONTENT = fieldTree(['role', 'parts'], { parts: PART })

/** Tools other than functions are recognised, priced or refused by kind, so their kinds need no list. */
const TOOL = fieldTree(undefined, {
  functionDeclarations: FUNCTION,
  googleSearch: fieldTree(['excludeDomains', 'blockingConfidence', 'searchTypes', 'timeRangeFilter'], {
    searchTypes: fieldTree(['webSearch', 'imageSearch'], { webSearch: fieldTree([]), imageSearch: fieldTree([]) }),
    timeRangeFilter: fieldTree(['startTime', 'endTime']),
  }),
  googleSearchRetrieval: fieldTree(['dynamicRetrievalConfig'], {
    dynamicRetrievalConfig: fieldTree(['mode', 'dynamicThreshold']),
  }),
  urlContext: fieldTree([]),
  codeExecution: fieldTree([]),
})

const TOOL_CONFIG = fieldTree(
  ['functionCallingConfig', 'retrievalConfig', 'includeServerSideToolInvocations'],
  {
    functionCallingConfig: fieldTree(
      ['mode', 'allowedFunctionNames', 'streamFunctionCallArguments'],
      {},
      {
        mode: boundWhere((mode) => typeof mode === 'string' && mode.toUpperCase() === 'VALIDATED'),
        streamFunctionCallArguments: LOST,
      },
    ),
    retrievalConfig: fieldTree(['latLng', 'languageCode'], { latLng: fieldTree(['latitude', 'longitude']) }),
  },
  { retrievalConfig: LOST, includeServerSideToolInvocations: LOST },
)

export const NESTED_FIELDS = fieldTree(undefined, {
  tools: TOOL,
  toolConfig: TOOL_CONFIG,
  contents: CONTENT,
  systemInstruction: CONTENT,
  generationConfig: fieldTree(undefined, {
    thinkingConfig: fieldTree(['includeThoughts', 'thinkingBudget', 'thinkingLevel']),
  }),
})

/** Features that no provider of the format supports. The format's service tiers differ from other formats' tiers. */
export const LACKING: readonly Feature[] = [
  'verbosity',
  'userId',
  'cacheKey',
  'cacheHints',
  'serviceTier',
  'parallelToolCalls',
  'strictTools',
  'participants',
  'imageDetail',
  'citations',
]

export const requestFields: RequestFields = {
  nested: nestedFields(NESTED_FIELDS, camelCase),
  tables: { '': BODY_FIELDS, generationConfig: CONFIG_FIELDS },
  spelling: {
    temperature: ['generationConfig.temperature'],
    topP: ['generationConfig.topP'],
    topK: ['generationConfig.topK'],
    frequencyPenalty: ['generationConfig.frequencyPenalty'],
    presencePenalty: ['generationConfig.presencePenalty'],
    seed: ['generationConfig.seed'],
    stop: ['generationConfig.stopSequences'],
    choices: ['generationConfig.candidateCount'],
    logprobs: ['generationConfig.responseLogprobs'],
    reasoning: ['generationConfig.thinkingConfig'],
    serviceTier: ['serviceTier'],
  },
  lacking: LACKING,
  refusing: [],
  lackingWith: { [QUIRKS.noThinking]: ['reasoning'] },
}

export const NATIVE_EMBEDDING_FIELDS = ['taskType', 'title', 'autoTruncate'] as const

export const EMBEDDING_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'content',
  'outputDimensionality',
  ...NATIVE_EMBEDDING_FIELDS,
])
