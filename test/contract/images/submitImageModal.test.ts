import { describeOperation } from '../../support/contract.ts';

describeOperation('submitImageModal', {
  invalid: {
    'without a job': { change: { taskId: undefined }, names: 'taskId' },
    'a job id that is a number': { change: { taskId: 1795 }, names: 'taskId' },
    'a mask that is no PNG': { change: { maskBase64: 'data:image/jpeg;base64,/9j/' }, names: 'maskBase64' },
    'a delivery to no web address': { change: { notifyHook: 'app.example' }, names: 'notifyHook' },
  },
});
