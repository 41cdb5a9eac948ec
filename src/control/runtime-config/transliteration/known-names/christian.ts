/** Names of Christians. Read by known-names.ts, which says how. */
export const CHRISTIAN = `
अब्राहम abraham | एग्नेस agnes | अल्बर्ट albert elbert alberth | एलेक्स alex | अलेक्जेंडर alexander
एल्विन alvin | एंड्रयू andrew | एंजेला angela | अन्ना anna | एनी annie | एंथनी anthony antony anthoni
ऑस्टिन austin | बेंजामिन benjamin | कैथरीन catherine katherine kathrine | चार्ल्स charles
क्रिस्टीना christina | क्रिस्टोफर christopher kristopher | क्लारा clara | डिसूजा dsouza dsuza
डेनियल daniel danial daneil danyel | डेविड david | डेनिस denis dennis | डायना diana | एडवर्ड edward
एडविन edwin | एलिज़ाबेथ elizabeth elizabath | फ़र्नांडिस fernandes fernandis | फर्नांडिस fernandez
फ़्रांसिस francis fransis frances | फ़्रैंकलिन franklin | फ़्रेडरिक frederick
जॉर्ज george jorge gorge georg | गोम्स gomes | गोंसाल्विस gonsalves | ग्रेस grace | हेलेन helen
हेनरी henry | जैकब jacob jecob jakob | जेम्स james | जेनिफ़र jennifer jenifer | जेसिका jessica
जॉन john jhon jon | जॉनसन johnson | जोनाथन jonathan | जोसेफ joseph jose | जॉय joy | जूली julie
केविन kevin | कुरियन kurian | लॉरेंस lawrence | लियो leo | लोबो lobo | लूसी lucy
मारिया maria mariya mariah | मार्क mark | मार्टिन martin | मैरी mary meri mery
मैथ्यू mathew matthew mathews | मेल्विन melvin | माइकल michael micheal maikal
नैंसी nancy nansi nancey nency | नेल्सन nelson | ओलिवर oliver | पैट्रिक patrick | पॉल paul pol
पीटर peter piter petar | फिलिप philip phillip | पिंटो pinto | रेचल rachel rechal | रेबेका rebecca
रेबेलो rebello | रिचर्ड richard | रॉबर्ट robert | रॉबिन robin | रोड्रिग्स rodrigues | रोजी rosy rosie
रूबी ruby | सैम sam | सैमसन samson | सैमुअल samuel samual | सारा sara sarah saara | सेबेस्टियन sebastian
शेरोन sharon | शीबा sheeba | साइमन simon | सोफिया sophia | सोफ़िया sofia | स्टेला stella
स्टीफन stephen steephen | स्टीवन steven | सुजैन susan | सिल्विया sylvia | थॉमस thomas tomas thomus
टीना tina | टोनी tony | वर्गीस varghese | विक्टर victor | विंसेंट vincent vinsent vincet vincint
विलियम william | विल्सन wilson vilson | एलिजाबेथ elisabeth | जोसेफ़ josef | रोज़ी rozy
`;
