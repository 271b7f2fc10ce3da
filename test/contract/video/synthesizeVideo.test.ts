import { describeOperation } from '../../support/contract.ts';

const image = (type: string) => ({ type, url: 'https://files.example/a.png' });

describeOperation('synthesizeVideo', {
  invalid: {
    'without a model': { change: { model: undefined }, names: 'model' },
    'without an input': { change: { input: undefined }, names: 'input' },
    'neither a prompt nor media': {
      change: { input: { prompt: undefined, media: undefined } },
      names: 'input.prompt',
    },
    'a media kind that does not exist': {
      change: { input: { media: [image('background')] } },
      names: 'input.media.0.type',
      limit: 'reference_image',
    },
    'media without an address': {
      change: { input: { media: [{ type: 'first_frame' }] } },
      names: 'input.media.0.url',
    },
    '11 reference images': {
      change: { input: { media: Array(11).fill(image('reference_image')) } },
      names: 'input.media',
      limit: 10,
    },
    'a first frame beside a reference image': {
      change: { input: { media: [image('first_frame'), image('reference_image')] } },
      names: 'input.media.1.type',
      limit: 'last_frame',
    },
    'a file beside a link': {
      change: {
        input: {
          media: [
            { type: 'file', url: 'https://files.example/a.pdf' },
            { type: 'link', url: 'https://files.example/' },
          ],
        },
      },
      names: 'input.media',
      limit: 1,
    },
    'a link that is no web page': {
      change: { input: { media: [{ type: 'link', url: 'ftp://files.example/a' }] } },
      names: 'input.media.0.url',
    },
    'a length of 31 seconds': {
      change: { parameters: { duration: 31 } },
      names: 'parameters.duration',
      limit: 30,
    },
    'a length of 1 second': {
      change: { parameters: { duration: 1 } },
      names: 'parameters.duration',
      limit: 2,
    },
    'a seed over 2147483647': {
      change: { parameters: { seed: 2_147_483_648 } },
      names: 'parameters.seed',
      limit: 2_147_483_647,
    },
    'a resolution that does not exist': {
      change: { parameters: { resolution: '4K' } },
      names: 'parameters.resolution',
      limit: '1080P',
    },
    'a watermark that is a string': {
      change: { parameters: { watermark: 'yes' } },
      names: 'parameters.watermark',
    },
    'a synchronous call': {
      headers: { 'X-Native-Async': 'disable' },
      names: 'x-native-async',
      limit: 'enable',
    },
  },
});
