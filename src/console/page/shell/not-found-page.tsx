import { ButtonLink } from '../ui/button.tsx';
import { Empty } from '../ui/states.tsx';
import { PageTitle } from '../ui/page-title.tsx';

export const NotFoundPage = () => (
  <>
    <PageTitle title="Not found" />
    <Empty icon="search" title="There is no such page">
      <ButtonLink href="/">Overview</ButtonLink>
    </Empty>
  </>
);
