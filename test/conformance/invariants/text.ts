import {
  atMost,
  dimensionsAsRequested,
  encodedAsRequested,
  equal,
  filled,
  type Invariants,
  numbered,
  onePerInput,
  sameAsRequest,
  sum,
} from './vocabulary.ts';

const counters = [
  sum('usage', 'total_tokens', 'input_tokens', 'output_tokens'),
  equal('usage', 'prompt_tokens', 'input_tokens'),
  equal('usage', 'completion_tokens', 'output_tokens'),
  atMost('usage', 'input_tokens', 'total_tokens'),
];

export const text: Invariants<'createEmbedding' | 'createMessage'> = {
  createEmbedding: [
    sameAsRequest('model', 'model'),
    numbered('data[].index'),
    onePerInput('data', 'input'),
    encodedAsRequested('data[].embedding', 'encoding_format'),
    dimensionsAsRequested('data[].embedding', 'dimensions'),
    ...counters,
  ],
  createMessage: [sameAsRequest('model', 'model'), filled('content'), filled('stop_reason'), ...counters],
};
