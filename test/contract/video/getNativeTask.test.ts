import { describeOperation } from '../../support/contract.ts';

describeOperation('getNativeTask', {
  invalid: {
    'a task id of 129 characters': { path: { task_id: 't'.repeat(129) }, names: 'task_id', limit: 128 },
  },
});
