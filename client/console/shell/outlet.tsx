import { FileQuestion } from 'lucide';
import type { ComponentType } from 'preact';
import { type Run, useLoaded } from '../calls/run.ts';
import { loadContract } from '../contract/contract.ts';
import { visiblePages } from '../pages.ts';
import { EmptyState, ErrorNotice } from '../parts/notices.tsx';
import type { Page } from './page.ts';
import { PageHead } from './page-head.tsx';
import { route } from './router.ts';

/** The current page. Its code and the contract are loaded when it is opened. */
export function Outlet() {
  const { path } = route.value;
  const page = visiblePages.value.find((entry) => entry.path === path);
  const loaded: Run<ComponentType<{ pages: readonly Page[] }> | undefined> = useLoaded(async () => {
    const [module] = await Promise.all([page?.load(), loadContract()]);
    return module?.default;
  }, path);
  const state = loaded.state.value;
  if (page === undefined)
    return (
      <>
        <PageHead title="Page not found" />
        <EmptyState icon={FileQuestion} title="The console has no such page, or the key may not open it.">
          <a href="#/">Go to the overview</a>
        </EmptyState>
      </>
    );
  if (state.status === 'failed') return <ErrorNotice error={state.error} />;
  if (state.status !== 'done' || state.result === undefined) return null;
  const Content = state.result;
  return <Content key={path} pages={visiblePages.value} />;
}
