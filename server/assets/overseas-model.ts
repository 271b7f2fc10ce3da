import { type CatalogueModel, models } from '../../generated/catalogue.ts';

/** The one model of the overseas accounts, which keep assets of their own. */
export const overseasModel = 'zeta-delta-2-0-fast-260128';

/** The Seedance models that use the assets uploaded without a model. */
export const homeModels: readonly CatalogueModel[] = models.filter(
  ({ id, protocols }) => protocols.includes('official') && id !== overseasModel,
);
