import { describeOperation } from '../../support/contract.ts';

describeOperation('downloadVideoContent', {
  invalid: {
    'a task id of 129 characters': { path: { task_id: 't'.repeat(129) }, names: 'task_id', limit: 128 },
    'a variant that does not exist': {
      query: { variant: 'spritesheet' },
      names: 'variant',
      limit: 'thumbnail',
    },
  },
});
