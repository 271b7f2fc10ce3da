import { describeOperation } from '../../support/contract.ts';

describeOperation('countMessageTokens', {
  invalid: {
    'without a version': { headers: { 'compat-version': undefined }, names: 'compat-version' },
    'without a model': { change: { model: undefined }, names: 'model' },
    'without messages': { change: { messages: undefined }, names: 'messages' },
    'messages that are a text': { change: { messages: 'When is low tide?' }, names: 'messages' },
  },
});
