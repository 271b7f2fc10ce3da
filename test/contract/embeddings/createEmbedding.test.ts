import { describeOperation } from '../../support/contract.ts';

describeOperation('createEmbedding', {
  invalid: {
    'without a model': { change: { model: undefined }, names: 'model' },
    'without an input': { change: { input: undefined }, names: 'input' },
    'an input that is a number': { change: { input: 7 }, names: 'input' },
    'an empty list of texts': { change: { input: [] }, names: 'input' },
    'an encoding that does not exist': { change: { encoding_format: 'int8' }, names: 'encoding_format' },
    'no dimensions': { change: { dimensions: 0 }, names: 'dimensions', limit: 1 },
  },
});
