import { describeOperation } from '../../support/contract.ts';

describeOperation('createVerificationSession', {
  invalid: {
    'a callback that is a number': { change: { callback_url: 7 }, names: 'callback_url' },
    'a callback that is no web address': { change: { callback_url: 'app.example' }, names: 'callback_url' },
    'a callback of 2049 characters': {
      change: { callback_url: `https://app.example/${'a'.repeat(2029)}` },
      names: 'callback_url',
      limit: 2048,
    },
  },
});
