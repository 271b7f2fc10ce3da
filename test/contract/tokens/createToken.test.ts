import { describeOperation } from '../../support/contract.ts';

describeOperation('createToken', {
  invalid: {
    'without a name': { change: { name: undefined }, names: 'name' },
    'a name of 51 characters': { change: { name: 'n'.repeat(51) }, names: 'name', limit: 50 },
    'a quota below 0': { change: { remain_quota: -1 }, names: 'remain_quota', limit: 0 },
    'a quota that is a string': { change: { remain_quota: '100' }, names: 'remain_quota' },
    'an expiry of -2': { change: { expired_time: -2 }, names: 'expired_time', limit: -1 },
    'an expiry of 0': { change: { expired_time: 0 }, names: 'expired_time', limit: 1 },
    'an expiry with a fraction': { change: { expired_time: 1.5 }, names: 'expired_time' },
  },
});
