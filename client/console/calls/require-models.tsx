import type { IconNode } from 'lucide';
import type { ComponentType } from 'preact';
import type { Model } from '../../index.ts';
import { EmptyState } from '../parts/notices.tsx';
import { PageHead } from '../shell/page-head.tsx';
import { useModels } from './models.ts';

interface PlaygroundPage {
  title: string;
  /** Purpose of the page in a sentence. */
  intro: string;
  icon: IconNode;
  /** Protocols of the models that the page uses. */
  protocols: readonly string[];
  /** Kind of model, as in "This key has no video model." */
  kind: string;
}

/** Returns a page whose content is shown only if the key can use a model of its kind. */
export function requireModels(
  Content: ComponentType<{ models: readonly Model[] }>,
  { title, intro, icon, protocols, kind }: PlaygroundPage,
) {
  return function RequireModels() {
    const models = useModels(protocols);
    return (
      <>
        <PageHead title={title}>{intro}</PageHead>
        {models?.length === 0 && (
          <EmptyState icon={icon} title={`This key has no ${kind} model.`}>
            <p>Ask the operator of the gateway for one, or sign in with another key.</p>
          </EmptyState>
        )}
        {models !== undefined && models.length > 0 && <Content models={models} />}
      </>
    );
  };
}
