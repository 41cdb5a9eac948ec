/** Names of the South and the East. Read by known-names.ts, which says how. */
export const SOUTH_EAST = `
अंजनेयुलु anjaneyulu | अन्नामलाई annamalai | अरुमुगम arumugam | अरविंदा arvinda
बालाजी balaji balajee balajy | बालकृष्णन balakrishnan | बालासुब्रमण्यम balasubramaniam
बनर्जी banerjee banerji bannerjee benarjee | बंद्योपाध्याय bandyopadhyay
बसवराज basavaraj basavraj basawaraj | भानु bhanu | भवानी bhavani bhawani | भास्करन bhaskaran
भुवनेश्वरी bhuvaneshwari | भौमिक bhowmick bhowmik | चंद्रन chandran | चेल्लम्मा chellamma
चिदंबरम chidambaram | चिन्नप्पा chinnappa | देबाशीष debashish debasish debasis | देबनाथ debnath | देब deb
डे dey | धनलक्ष्मी dhanalakshmi | दिनाकरन dinakaran | एलंगो elango | ईश्वर eshwar
गणपति ganapathy ganapathi ganapati | गणेशन ganesan | गोपालकृष्णन gopalakrishnan gopalkrishnan
गोविंदन govindan | गौड़ा gowda gouda gawda | हालदार haldar halder | हनुमंत hanumanth | हज़ारिका hazarika
हेम्ब्रम hembram | इलंगो ilango | इंदुमती indumathi | जगन jagan | जयललिता jayalalitha
जयलक्ष्मी jayalakshmi jayalaksmi | जयंती jayanthi | जयराम jayaram | जेना jena | काकोली kakoli
कलैवाणी kalaivani | कामराज kamaraj kamraj kaamaraj | कन्नन kannan
कार्तिकेयन karthikeyan kartikeyan karthikeyen karthikayan | करुणानिधि karunanidhi
कस्तूरी kasturi kasthuri kastoori | कविता kavitha
कृष्णमूर्ति krishnamurthy krishnamoorthy krishnamurti krishnamurthi | कृष्णन krishnan kirshnan krisnan
कृष्णास्वामी krishnaswamy | कुमारन kumaran | कुमारस्वामी kumaraswamy kumaraswami | लक्ष्मणन lakshmanan
लक्ष्मीपति lakshmipathi | ललिता lalitha | लता latha | माधवन madhavan | महालक्ष्मी mahalakshmi
महेश्वरी maheswari | महंता mahanta mahanto | मल्लेश mallesh | मल्लिकार्जुन mallikarjun malikarjun
मणि mani | मणिकंदन manikandan | मंजूनाथ manjunath | मथाई mathai | मीनाक्षीसुंदरम meenakshisundaram
मेयप्पन meiyappan | मोहनलाल mohanlal | मूर्ति moorthy murthy murti moorthi murthi | मुरुगा muruga
मुरुगन murugan murugun murugen | मुरुगेसन murugesan | मुथु muthu | नागराज nagaraj nagaraja nagraj
नागराजन nagarajan | नागेश्वर nageshwar nageswar | नल्लाथंबी nallathambi | नांबियार nambiar
नंबूदिरी namboodiri | नंदी nandy nandi | नरसिम्हा narasimha | नरसिम्हन narasimhan | नारायणन narayanan
नारायणस्वामी narayanaswamy | नटराजन natarajan nataraajan natrajan
पद्मनाभन padmanabhan padmanaban padhmanabhan | पलानी palani | पलानीस्वामी palaniswami
पांडियन pandian pandiyan | परमेश्वरन parameswaran
पार्थसारथी parthasarathy parthasarathi parthasarthy parthasarthi | पार्थिबन parthiban | पेरुमल perumal
पोन्नुसामी ponnusamy | प्रभाकरन prabhakaran | प्रकाशम prakasam | प्रोसेनजीत prosenjit
पुष्पलता pushpalatha | राधाकृष्णन radhakrishnan radhakrisnan | राघवन raghavan
राघवेंद्र raghavendra raghvender raghavender | राजगोपाल rajagopal rajgopal | राजगोपालन rajagopalan
राजशेखर rajasekhar rajashekhar rajshekhar rajashekar | राजलक्ष्मी rajalakshmi | राजम rajam
राजाराम rajaram | राजेश्वरी rajeshwari rajeswari rajeshwary | राजेंद्रन rajendran | रजनीकांत rajinikanth
रामचंद्रन ramachandran ramchandran | रामैया ramaiah | रामकृष्ण ramakrishna
रामकृष्णन ramakrishnan ramkrishnan | रामनाथन ramanathan ramnathan | रामानुजम ramanujam
रामास्वामी ramasamy ramaswamy ramaswami | रामय्या ramayya | रामबाबू rambabu raambabu | रामुलु ramulu
रंगनाथ ranganath | रंगास्वामी rangaswamy | रविचंद्रन ravichandran | रुक्मणी rukmani | सदाशिवन sadasivan
सैकिया saikia | संपत sampath | संगमा sangma | संतोष santhosh | सरवनन saravanan | सरमा sarma
शशिकला sasikala shashikala | सतीश sathish | सत्यवती satyavathi | सेल्वम selvam | सेल्वराज selvaraj
सेंथिल senthil | शेषाद्रि seshadri | षणमुगम shanmugam | शांति shanthi
शिवकुमार shivakumar sivakumar sivkumar | शिवन्ना shivanna | सिद्धारमैया siddaramaiah
सीतारमन sitaraman seetharaman | शिवरामन sivaraman | शोभा sobha | सोरेन soren | सौविक souvik
श्रीधर sreedhar sridhar shridhar shreedhar | श्रीदेवी sreedevi sridevi | श्रीकुमार sreekumar
श्रीलता sreelatha | श्रीनिवासन sreenivasan srinivasan shrinivasan
श्रीकांत srikanth srikant sreekanth shreekant | श्रीनिवास srinivasa | श्रीराम sriram
सुब्बालक्ष्मी subbalakshmi | सुब्बाराव subbarao | शुभदीप subhadeep | शुभंकर subhankar | सुब्रत subrata
सुधाकरन sudhakaran | सुजाता sujatha | सुकुमार sukumar | सुकुमारन sukumaran | सुमति sumathi
सुनीता sunitha | सूर्यनारायण suryanarayana | स्वाइन swain | स्वामीनाथन swaminathan swaminadhan
तापस tapas | तपन tapan | थंगराज thangaraj | त्यागराजन thiagarajan | तिरुपति tirupati tirupathi
उथप्पा uthappa | वनजा vanaja | वाणी vani | वरदराजन varadarajan | वसंता vasantha | वसंती vasanthi
वासुदेवन vasudevan | वीरप्पन veerappan | वीरेश veeresh | वेलु velu | वेंकट venkat
वेंकटरमन venkataraman venkatraman | वेंकटेशन venkatesan | वेंकटेश venkatesh venkatesu wenkatesh
वेंकटेश्वरलू venkateshwarlu | वेंकैया venkaiah | वेणुगोपाल venugopal venugopaal | विद्या vidhya
विजयकुमार vijayakumar | विजयलक्ष्मी vijayalakshmi vijayalaksmi vijaylaksmi | विजयन vijayan
विश्वनाथन vishwanathan viswanathan vishvanathan | यशोधरा yashodhara | येदियुरप्पा yeddyurappa
देवाशीष devashish | जयरामा jayarama | मल्लिकार्जुना mallikarjuna | मंजूनाथा manjunatha
वेंकटेशा venkatesha | वेणुगोपाला venugopala | राजगोपाला rajagopala | वेंकटरमना venkataramana
`;
