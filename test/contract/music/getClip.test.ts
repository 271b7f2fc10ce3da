import { describeOperation } from '../../support/contract.ts';

describeOperation('getClip', {
  invalid: {
    'a clip id of 129 characters': { path: { clip_id: 'c'.repeat(129) }, names: 'clip_id', limit: 128 },
    'an empty id between commas': { path: { clip_id: 'c1,,c2' }, names: 'clip_id' },
    '101 clip ids': { path: { clip_id: Array(101).fill('c').join(',') }, names: 'clip_id' },
  },
});
