import { PackageX } from 'lucide';
import type { ComponentType } from 'preact';
import { EmptyState } from '../parts/notices.tsx';
import { PageHead } from '../shell/page-head.tsx';
import { useModels } from './models.ts';

interface Requirement {
  title: string;
  /** Protocols of the models that the page uses. */
  protocols: readonly string[];
  /** Kind of model, as in "This key has no messages model." */
  kind: string;
}

/** Returns a page that is shown only if the key can use a model of its kind. */
export function requireModels(
  Content: ComponentType,
  { title, protocols, kind }: Requirement,
): ComponentType {
  return function RequireModels() {
    const models = useModels(protocols);
    if (models === undefined) return null;
    if (models.length > 0) return <Content />;
    return (
      <>
        <PageHead title={title} />
        <EmptyState icon={PackageX} title={`This key has no ${kind} model.`}>
          <p>Sign in with another key, or ask the operator of the gateway.</p>
        </EmptyState>
      </>
    );
  };
}
