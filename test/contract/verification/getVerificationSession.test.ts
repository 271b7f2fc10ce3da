import { describeOperation } from '../../support/contract.ts';

describeOperation('getVerificationSession', {
  invalid: {
    'a session id of 129 characters': {
      path: { session_id: 's'.repeat(129) },
      names: 'session_id',
      limit: 128,
    },
    'a result code that is no number': { query: { result_code: 'passed' }, names: 'result_code' },
    'a result code below 0': { query: { result_code: -1 }, names: 'result_code', limit: 0 },
  },
});
