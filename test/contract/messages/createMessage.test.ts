import { describeOperation } from '../../support/contract.ts';

describeOperation('createMessage', {
  invalid: {
    'without a version': { headers: { 'compat-version': undefined }, names: 'compat-version' },
    'without a model': { change: { model: undefined }, names: 'model' },
    'without max_tokens': { change: { max_tokens: undefined }, names: 'max_tokens' },
    'max_tokens of 0': { change: { max_tokens: 0 }, names: 'max_tokens', limit: 1 },
    'without messages': { change: { messages: undefined }, names: 'messages' },
    'no message': { change: { messages: [] }, names: 'messages', limit: 1 },
    'a role that does not exist': {
      change: { messages: [{ role: 'system', content: 'Be brief.' }] },
      names: 'messages.0.role',
      limit: 'assistant',
    },
    'a message without content': { change: { messages: [{ role: 'user' }] }, names: 'messages.0.content' },
    'a temperature over 1': { change: { temperature: 1.5 }, names: 'temperature', limit: 1 },
    'a stream that is a string': { change: { stream: 'yes' }, names: 'stream' },
  },
});
