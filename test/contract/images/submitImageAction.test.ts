import { describeOperation } from '../../support/contract.ts';

describeOperation('submitImageAction', {
  invalid: {
    'without a job': { change: { taskId: undefined }, names: 'taskId' },
    'without a button': { change: { customId: undefined }, names: 'customId' },
    'a button of 513 characters': { change: { customId: 'b'.repeat(513) }, names: 'customId', limit: 512 },
    'a state that is an object': { change: { state: { order: 7 } }, names: 'state' },
  },
});
