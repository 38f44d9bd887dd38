import { testUnderNode } from './installed.ts';

testUnderNode('22.23.3');
