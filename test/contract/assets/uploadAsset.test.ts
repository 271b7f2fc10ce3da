import { describeOperation } from '../../support/contract.ts';

describeOperation('uploadAsset', {
  invalid: {
    'without an address': { change: { url: undefined }, names: 'url' },
    'Base64 in place of an address': { change: { url: 'data:image/png;base64,iVBORw0KGgo=' }, names: 'url' },
    'without a type': { change: { asset_type: undefined }, names: 'asset_type' },
    'a type that does not exist': { change: { asset_type: 'Document' }, names: 'asset_type' },
    'a name of 201 characters': { change: { name: 'n'.repeat(201) }, names: 'name', limit: 200 },
    'a model that takes no query': {
      query: { model: 'epsilon-delta-2-0-260128' },
      names: 'model',
      limit: 'zeta',
    },
  },
});
