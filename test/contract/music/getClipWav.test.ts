import { describeOperation } from '../../support/contract.ts';

describeOperation('getClipWav', {
  invalid: {
    'a clip id of 129 characters': { path: { clip_id: 'c'.repeat(129) }, names: 'clip_id', limit: 128 },
  },
});
