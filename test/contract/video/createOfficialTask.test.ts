import { describeOperation } from '../../support/contract.ts';

const text = { type: 'text', text: 'A kite over the dunes.' };
const image = (role: string) => ({
  type: 'image_url',
  image_url: { url: 'https://files.example/a.png' },
  role,
});

describeOperation('createOfficialTask', {
  invalid: {
    'without a model': { change: { model: undefined }, names: 'model' },
    'without content': { change: { content: undefined }, names: 'content' },
    'no content item': { change: { content: [] }, names: 'content', limit: 1 },
    'a content kind that does not exist': {
      change: { content: [{ type: 'smell' }] },
      names: 'content.0.type',
    },
    'an image without an address': {
      change: { content: [{ type: 'image_url' }] },
      names: 'content.0.image_url',
    },
    'a last frame alone': { change: { content: [text, image('last_frame')] }, names: 'content' },
    'two first frames': {
      change: { content: [text, image('first_frame'), image('first_frame')] },
      names: 'content',
      limit: 1,
    },
    '10 reference images on 2.0': {
      change: {
        model: 'epsilon-delta-2-0-260128',
        content: [text, ...Array(10).fill(image('reference_image'))],
      },
      names: 'content',
      limit: 9,
    },
    'a length of 16 seconds on 2.0': {
      change: { model: 'epsilon-delta-2-0-260128', duration: 16 },
      names: 'duration',
      limit: 15,
    },
    'a priority of 10': { change: { priority: 10 }, names: 'priority', limit: 9 },
    'an expiry of a minute': {
      change: { execution_expires_after: 60 },
      names: 'execution_expires_after',
      limit: 3600,
    },
    'a callback that is no web address': {
      change: { callback_url: 'file:///etc/passwd' },
      names: 'callback_url',
    },
  },
});
